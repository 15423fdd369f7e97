/** Which requests are shown, by how they ended. */
export const STATUSES = ['ok', 'error', 'cancelled'] as const;

/** One of these words, or a status of HTTP. */
export type RequestStatus = (typeof STATUSES)[number] | number;

const STATUS_MIN = 100;
const STATUS_MAX = 599;

/** Reads the status of an address. */
export function requestStatus(value: unknown): RequestStatus | undefined {
  const isNumber =
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= STATUS_MIN &&
    value <= STATUS_MAX;
  return isNumber ? value : STATUSES.find((word) => word === value);
}
