import { endingEarly, print, readOrExit } from './command.ts';
import { startDeployment } from './deployment/deployment.ts';
import { outcomeTable, wrongBooks } from './run/report.ts';
import { settle } from './run/settle.ts';
import { readOptions, USAGE } from './soak/options.ts';
import { runSoak, soakTable } from './soak/run-soak.ts';

const THINK_MS_MAX = 300;
/** A short run has as many samples as a long one needs. */
const SAMPLES_MIN = 12;

const { minutes, clients, seed } = readOrExit(readOptions, USAGE);
const samples = Math.max(SAMPLES_MIN, Math.round(minutes));
const signal = endingEarly();
const deployment = await startDeployment({ seed, areUpstreamsFaulty: false });
try {
  print(`started ${[...deployment.processes.keys()].join(', ')}; ${samples} samples`);
  const { sent, measures } = await runSoak({
    deployment,
    seed,
    clients,
    thinkMsMax: THINK_MS_MAX,
    samples,
    secondsPerSample: (minutes * 60) / samples,
    onSample: print,
    signal,
  });
  const { differences, problems } = await settle(deployment, sent);
  for (const line of ['', ...outcomeTable(sent), '', ...soakTable(measures), '']) print(line);
  const growing = measures.filter(({ isJudged, isGrowing }) => isJudged && isGrowing);
  const violations = [
    ...growing.map(({ name, growth }) => `${name} grew by ${growth.toFixed(2)}`),
    ...wrongBooks(differences),
    ...problems,
  ];
  for (const violation of violations) print(`FAILED ${violation}`);
  print(violations.length === 0 ? 'passed' : 'failed');
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await deployment.close();
}
