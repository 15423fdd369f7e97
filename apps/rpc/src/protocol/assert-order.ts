import { invalidParam } from '@model-gateway/contracts';

/** Refuses a period that is empty, as one whose ends were given in the wrong order. */
export function assertOrder(from: Date | undefined, to: Date | undefined): void {
  if (from !== undefined && to !== undefined && from >= to)
    throw invalidParam('from', "must be before 'to'");
}
