import {
  cutBody,
  KEPT_BODY_BYTES_MAX,
  type PreparedTurn,
  type RequestLogWriter,
} from '@model-gateway/inference';
import type { Clock } from '@model-gateway/kernel';

/** Collects the reply of a turn. */
interface KeptTurn {
  add(text: string): void;
  end(): void;
}

/** Keeps the request and the reply of a turn, where the service says so. */
export type KeepTurnBodies = (
  turn: Pick<PreparedTurn, 'caller' | 'request' | 'trace'>,
) => KeptTurn | undefined;

interface KeepTurnDependencies {
  readonly requestLogWriter: Pick<RequestLogWriter, 'keepBodies'>;
  readonly clock: Clock;
  readonly logBodies: boolean;
}

export function createKeepTurnBodies({
  requestLogWriter,
  clock,
  logBodies,
}: KeepTurnDependencies): KeepTurnBodies {
  return ({ caller: { userId }, request, trace }) => {
    if (!logBodies || trace === undefined) return undefined;
    let answer = '';
    let size = 0;
    return {
      add(text) {
        size += Buffer.byteLength(text);
        if (answer.length < KEPT_BODY_BYTES_MAX) answer += text;
      },
      end() {
        requestLogWriter.keepBodies({
          id: trace.id,
          createdAt: new Date(clock.now()),
          userId,
          request: cutBody(JSON.stringify(request)),
          answer: size === 0 ? null : cutBody(answer, size),
        });
      },
    };
  };
}
