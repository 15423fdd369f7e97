import { createSessionSlots } from './session-slots.ts';

test('the number of sessions per user is limited, and a released slot is free again once', () => {
  const slots = createSessionSlots(2);
  const release = slots.take('ann');
  slots.take('ann');
  expect(() => slots.take('ann')).toThrow('at most 2 may be open');
  slots.take('bob');
  release();
  release();
  slots.take('ann');
  expect(() => slots.take('ann')).toThrow('too many realtime sessions');
});
