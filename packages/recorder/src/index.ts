export { createFactRefresh } from './fact-refresh.ts';
export { createPointsCount } from './points-count.ts';
export { haltedEvent } from './halted-event.ts';
export { createRecorder } from './recorder.ts';
export { createRetention } from './retention.ts';
export { runRejectedUsageCommand } from './rejected-usage-command.ts';
export { runUsageSumsCommand } from './usage-sums-command.ts';
