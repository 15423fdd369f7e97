import { randomToken } from '@model-gateway/kernel';

/** A prefix for keys, channels and names, so that test files which share a store do not meet. */
export const uniquePrefix = (): string => `t-${randomToken(9)}:`;
