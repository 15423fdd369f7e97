const MILLION_DIGITS = 6;

/** A price per million tokens as the exact decimal text of the price per token, without an exponent. */
export function pricePerToken(perMillion: number): string {
  const [mantissa = '0', exponent = '0'] = String(perMillion).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const digits = `${whole}${fraction}`;
  const point = whole.length + Number(exponent) - MILLION_DIGITS;
  const padded = point <= 0 ? `${'0'.repeat(1 - point)}${digits}` : digits.padEnd(point, '0');
  const at = Math.max(point, 1);
  const decimals = padded.slice(at).replace(/0+$/, '');
  const units = padded.slice(0, at).replace(/^0+(?=\d)/, '');
  return decimals === '' ? units : `${units}.${decimals}`;
}
