import { createSeats } from './seats.ts';

test('a user has so many seats, and one that is given back is free once', () => {
  const seats = createSeats(2);
  const leave = seats.take('ann');
  seats.take('ann');
  expect(() => seats.take('ann')).toThrow('at most 2 may be open');
  seats.take('bob');
  leave();
  leave();
  seats.take('ann');
  expect(() => seats.take('ann')).toThrow('too many realtime sessions');
});
