/** What is known of a deployment. */
export interface DeployState {
  readonly status: 'pulling' | 'loading' | 'ready' | 'failed';
  readonly progress: number;
  /** The last messages, oldest first. */
  readonly lines: readonly string[];
}

interface Progress extends Omit<DeployState, 'lines'> {
  readonly message?: string | undefined;
}

const LINES_MAX = 12;

/** The state after one more notification. The same message twice is one line. */
export function withProgress(
  before: DeployState | undefined,
  { status, progress, message }: Progress,
): DeployState {
  const lines = before?.lines ?? [];
  const isNew = message !== undefined && message !== '' && message !== lines.at(-1);
  return {
    status,
    progress,
    lines: isNew ? [...lines, message].slice(-LINES_MAX) : lines,
  };
}
