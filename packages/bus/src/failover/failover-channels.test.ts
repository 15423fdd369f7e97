import { silentLog } from '@model-gateway/kernel';
import { createLocalChannels } from '../local/local-channels.ts';
import { createFailoverChannels } from './failover-channels.ts';

/** Channels whose Redis refuses every message. */
function refusing() {
  const lines: unknown[] = [];
  const refuse = () => Promise.reject(new Error('READONLY'));
  const channels = createFailoverChannels({
    connection: {
      commandsReady: () => true,
      channelsReady: () => true,
      onChange: () => () => undefined,
    },
    local: createLocalChannels({ log: silentLog }),
    redis: {
      publish: refuse,
      listen: () => ({ live: Promise.resolve(), close: () => undefined }),
    },
    log: { ...silentLog, warn: (fields, message) => void lines.push({ ...fields, message }) },
  });
  return { channels, lines };
}

test('a message that Redis does not take is logged, many of them once, and not by the name of its stream', async () => {
  const { channels, lines } = refusing();
  expect(await channels.publish('notify:secret', 'one')).toBe(0);
  expect(await channels.publish('notify:secret', 'two')).toBe(0);
  expect(lines).toEqual([
    {
      channel: 'notify',
      messages: 1,
      reason: 'READONLY',
      message: 'publishing a message failed; listeners in other processes do not get it',
    },
  ]);
});

test('the listeners of this process get it all the same', async () => {
  const { channels, lines } = refusing();
  const heard: string[] = [];
  await channels.subscribe('notify:secret', (message) => heard.push(message));
  expect(await channels.publish('notify:secret', 'one')).toBe(1);
  expect(heard).toEqual(['one']);
  expect(lines).toHaveLength(1);
});
