// What keeps the service from starting before its own code runs. It is loaded by every version of Node, so it is plain.
const NODE_MIN = [20, 19];

/** Each message, and what to do next; `{name}` stands for a value. The page about troubleshooting is generated from it. */
export const START_PROBLEMS = {
  old_node: {
    says: 'Node {minimum} or newer is required, this is {version}',
    remedy: 'install a newer one from nodejs.org or with your package manager',
  },
  port_in_use: {
    says: 'Port {port} on {host} is already in use, perhaps by a service that you have started before',
    remedy: 'stop that process, or use another port: SERVICE_PORT={other} npm start',
  },
  port_forbidden: {
    says: 'There is no permission to listen on port {port} on {host}',
    remedy: 'use a port above 1023: SERVICE_PORT={other} npm start',
  },
  lockfile_outdated: {
    says: 'pnpm-lock.yaml does not match the package.json files',
    remedy: 'run `pnpm install` once',
  },
  no_dependencies: {
    says: 'Dependencies could not be installed',
    remedy:
      'check that this machine can reach the npm registry (network, proxy, registry setting) and has free disk space, then run the command again',
  },
  no_tool: {
    says: 'The npm package {name} could not be downloaded',
    remedy:
      'check that this machine can reach the npm registry (network, proxy, registry setting) and has free disk space, then run the command again',
  },
  changed_tool: {
    says: 'The npm registry served another {name} than the one that is pinned: its hash is {received}, not {pinned}. Nothing of it was run',
    remedy:
      'find out which registry it came from (`npm config get registry`) and why it differs, and run the command again with a registry that serves the published package',
  },
  no_pinned_node: {
    says: 'Node 24 or newer is required, and there is none for {platform} that could be downloaded',
    remedy: 'install one from nodejs.org or with your package manager',
  },
  no_pinned_pnpm: {
    says: 'There is no pnpm {version} for {platform}',
    remedy: 'use a machine with Linux or macOS, on x64 or arm64',
  },
  not_built: {
    says: 'The command line is not built yet',
    remedy: 'run `npm start` once, which installs and builds it',
  },
  build_failed: {
    says: 'The build failed; see the output above',
    remedy: 'correct what it names, or free disk space, and run the command again',
  },
};

/**
 * One message with its remedy.
 *
 * @param {keyof typeof START_PROBLEMS} name
 * @param {Readonly<Record<string, string | number>>} [values]
 * @returns {string}
 */
export function startProblem(name, values = {}) {
  const { says, remedy } = START_PROBLEMS[name];
  return `${says}; ${remedy}`.replace(/\{(\w+)\}/g, (_place, value) => String(values[value]));
}

/**
 * The message for a version of Node that is too old, or undefined.
 *
 * @param {string} version
 * @returns {string | undefined}
 */
export function nodeProblem(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])) return undefined;
  return startProblem('old_node', { minimum: NODE_MIN.join('.'), version });
}
