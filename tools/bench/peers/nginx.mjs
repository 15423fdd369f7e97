// nginx as a plain reverse proxy with keep-alive connections to the upstream.
import { accessSync, constants } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../../scripts/run-command.mjs';

const PROGRAMS = [
  '/usr/sbin/nginx',
  '/usr/local/sbin/nginx',
  '/usr/bin/nginx',
  '/usr/local/bin/nginx',
];

/** Finds nginx, or installs it as root on Debian; undefined if there is none. */
export async function ensureNginx() {
  const found = findNginx();
  if (found !== undefined || process.getuid?.() !== 0) return found;
  process.stdout.write('Installing nginx…\n');
  // The run level prevents the package from starting a service.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' };
  const install = ['install', '-y', '-qq', '--no-install-recommends', 'nginx-light'];
  if (!(await runCommand('apt-get', install, { env })).ok) {
    await runCommand('apt-get', ['update', '-qq'], { env });
    await runCommand('apt-get', install, { env });
  }
  return findNginx();
}

function findNginx() {
  return PROGRAMS.find((program) => {
    try {
      accessSync(program, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Writes a configuration and returns the command that runs it as a single process. */
export async function nginxCommand({ program, folder, port, upstreamPort }) {
  const prefix = join(folder, 'nginx');
  await mkdir(join(prefix, 'temp'), { recursive: true });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `  ${kind}_temp_path ${prefix}/temp/${kind};`,
  );
  const config = `
daemon off;
master_process off;
worker_processes 1;
pid ${prefix}/nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
  access_log off;
  keepalive_requests 100000000;
${temporary.join('\n')}
  upstream mock { server 127.0.0.1:${upstreamPort}; keepalive 1024; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
  const file = join(prefix, 'nginx.conf');
  await writeFile(file, config);
  return [program, '-p', prefix, '-c', file];
}
