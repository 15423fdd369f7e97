import {
  formatOwner,
  nameable,
  newProcessOwner,
  parseOwner,
  type ProcessOwner,
} from '../process-owner.ts';

/** Who appends to a segment file. */
export interface SegmentOwner extends ProcessOwner {
  readonly instance: string;
}

export interface SegmentName {
  readonly owner: SegmentOwner;
  readonly sequence: number;
}

const PATTERN = /^([^~]*)~(.+)~(\d+)\.jsonl$/;

/** The owner of this process for one journal. */
export function newSegmentOwner(instance: string, now: number): SegmentOwner {
  return { instance: nameable(instance), ...newProcessOwner(now) };
}

export function formatSegmentName({ owner, sequence }: SegmentName): string {
  return `${owner.instance}~${formatOwner(owner)}~${String(sequence).padStart(8, '0')}.jsonl`;
}

/** Undefined for a file that is not a segment. */
export function parseSegmentName(file: string): SegmentName | undefined {
  const match = PATTERN.exec(file);
  const owner = parseOwner(match?.[2] ?? '');
  if (match === null || owner === undefined) return undefined;
  return { owner: { instance: match[1] ?? '', ...owner }, sequence: Number(match[3]) };
}
