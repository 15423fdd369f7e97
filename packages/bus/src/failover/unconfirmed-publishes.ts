/** Publishes without a reply from Redis: tracks whether their messages arrived nevertheless. */
export interface UnconfirmedPublishes {
  begin(channel: string, message: string): UnconfirmedPublish;
  /** Must be called for each message from Redis. */
  arrived(channel: string, message: string): void;
  /** Resolves when no earlier publish on the channel is pending. */
  settled(channel: string): Promise<void>;
}

export interface UnconfirmedPublish {
  hasArrived(): boolean;
  end(): void;
}

interface Open {
  readonly message: string;
  arrived: boolean;
  readonly ended: Promise<void>;
}

/**
 * A message is identified by its text, so that it needs no id on the wire. If another process publishes the same text at the
 * same moment, one of the two equal messages counts for both.
 */
export function createUnconfirmedPublishes(): UnconfirmedPublishes {
  const byChannel = new Map<string, Set<Open>>();
  return {
    begin(channel, message) {
      let endIt: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        endIt = resolve;
      });
      const open: Open = { message, arrived: false, ended };
      const all = byChannel.get(channel) ?? new Set<Open>();
      byChannel.set(channel, all.add(open));
      return {
        hasArrived: () => open.arrived,
        end: () => {
          if (all.delete(open) && all.size === 0) byChannel.delete(channel);
          endIt();
        },
      };
    },
    arrived(channel, message) {
      for (const open of byChannel.get(channel) ?? []) {
        if (open.arrived || open.message !== message) continue;
        open.arrived = true;
        return;
      }
    },
    async settled(channel) {
      await Promise.all([...(byChannel.get(channel) ?? [])].map(({ ended }) => ended));
    },
  };
}
