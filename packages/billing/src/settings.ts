import { integer, setting, withDefault } from '@model-gateway/kernel';

const POINTS_PER_USD_MAX = 1_000_000;

/** The value of a point, for the apps that charge or show points. */
export const billingSettings = {
  pointsPerUsd: setting('POINTS_PER_USD', withDefault(integer(1, POINTS_PER_USD_MAX), 100), {
    description: 'How many points one US dollar is worth.',
  }),
};
