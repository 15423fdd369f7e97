#!/usr/bin/env node
import { runProcess, untilAborted } from '@model-gateway/kernel';
import { createGpuAgent } from './app.ts';
import { readCommandLine, readGpuAgentConfig, USAGE } from './config.ts';
import { AGENT_VERSION } from './version.ts';

await runProcess({
  name: 'gpu-agent',
  readConfig() {
    const { infoFlag, environment } = readCommandLine();
    if (infoFlag !== undefined) {
      process.stdout.write(infoFlag === 'help' ? USAGE : `${AGENT_VERSION}\n`);
      process.exit(0);
    }
    return readGpuAgentConfig(environment);
  },
  async open(config, lifecycle, log) {
    const agent = createGpuAgent(config, log);
    await lifecycle.start(agent);
    await Promise.race([agent.failed, untilAborted(lifecycle.stopping)]);
  },
});
