import { createDeferred, describeError } from '@model-gateway/kernel';
import { z } from 'zod';

/** What one end of a link does for the other, by name. Values and results are JSON. */
export type Calls = Readonly<Record<string, (value: never) => unknown>>;

/** One end of a link between a process and one that it started. */
export interface ProcessLink<Asked extends Calls> {
  /** Asks the other end. Rejects when that fails, or when the link ends before the answer. */
  call<Name extends keyof Asked & string>(
    name: Name,
    value: Parameters<Asked[Name]>[0],
  ): Promise<Awaited<ReturnType<Asked[Name]>>>;
  /** Fails the calls that wait for an answer. */
  end(reason: string): void;
}

/** The channel of this process to the one that started it, or to one that it started. */
interface Channel {
  send?(message: Message, whenSent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

const messageSchema = z.union([
  z.object({ id: z.number(), call: z.string(), value: z.unknown().optional() }),
  z.object({ id: z.number(), error: z.string() }),
  z.object({ id: z.number(), result: z.unknown().optional() }),
]);
type Message = z.infer<typeof messageSchema>;

/** Makes one end, which serves the calls of the other one. */
export function createProcessLink<Asked extends Calls>(
  channel: Channel,
  served: Calls,
): ProcessLink<Asked> {
  const waiting = new Map<number, ReturnType<typeof createDeferred<unknown>>>();
  let calls = 0;

  function settle(id: number, outcome: { readonly error: Error } | { readonly result: unknown }) {
    const call = waiting.get(id);
    waiting.delete(id);
    if ('error' in outcome) call?.reject(outcome.error);
    else call?.resolve(outcome.result);
  }

  async function answer(
    name: string,
    value: unknown,
  ): Promise<{ result: unknown } | { error: string }> {
    try {
      const serve = served[name];
      if (serve === undefined) throw new Error(`there is no call ${name}`);
      // Both ends are of one build, so that the value is what this call takes.
      return { result: await serve(value as never) };
    } catch (error) {
      return { error: describeError(error) };
    }
  }

  channel.on('message', (received) => {
    const message = messageSchema.safeParse(received).data;
    if (message === undefined) return;
    const { id } = message;
    if ('call' in message) {
      // An answer that cannot be sent has no one to read it: the other process has ended.
      void answer(message.call, message.value).then((outcome) =>
        channel.send?.({ id, ...outcome }, () => undefined),
      );
    } else if ('error' in message) settle(id, { error: new Error(message.error) });
    else settle(id, { result: message.result });
  });

  return {
    call(name, value) {
      calls += 1;
      const id = calls;
      const call = createDeferred<unknown>();
      waiting.set(id, call);
      channel.send?.({ id, call: name, value }, (error) => {
        if (error !== null) settle(id, { error });
      });
      // Both ends are of one build.
      return call.promise as Promise<never>;
    },
    end(reason) {
      for (const id of waiting.keys()) settle(id, { error: new Error(reason) });
    },
  };
}
