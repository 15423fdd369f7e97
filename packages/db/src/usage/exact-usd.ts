/** Amounts of money are added as integers of this many decimals of a dollar, so that sums are exact. */
const DECIMALS = 32;
const UNIT = 10n ** BigInt(DECIMALS);
/** Postgres keeps so many digits of a double in a decimal. */
const DOUBLE_DIGITS = 15;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** With more digits than a double needs: an even digit, exactly half of the next one, and the exponent. */
const HALF = /^(\d\.\d{13}[02468])50*(e[+-]\d+)$/;
const ALL_DIGITS = 60;

/** The amount of a row, as Postgres casts it to a decimal: what is exactly between two decimals becomes the even one. */
export function exactUsd(usd: number): bigint {
  const half = HALF.exec(usd.toExponential(ALL_DIGITS));
  return parseUsd(
    half === null ? usd.toPrecision(DOUBLE_DIGITS) : `${half[1] ?? ''}${half[2] ?? ''}`,
  );
}

/** Reads a decimal of Postgres. What is smaller than all decimals is left out. */
export function parseUsd(text: string): bigint {
  const [, sign = '', whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (whole === undefined) throw new Error(`'${text}' is no amount`);
  const shift = DECIMALS - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const scaled = shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
  return sign === '' ? scaled : -scaled;
}

/** Writes an amount for Postgres. */
export function usdText(amount: bigint): string {
  const positive = amount < 0n ? -amount : amount;
  const fraction = (positive % UNIT).toString().padStart(DECIMALS, '0').replace(/0+$/, '');
  const text = `${positive / UNIT}${fraction === '' ? '' : `.${fraction}`}`;
  return amount < 0n ? `-${text}` : text;
}
