import { randomToken } from '@model-gateway/kernel';

/** A prefix for keys, channels and names, so that test files can share a store. */
export const uniquePrefix = (): string => `t-${randomToken(9)}:`;
