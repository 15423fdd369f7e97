interface LogoProps {
  readonly size?: number;
}

/** The mark of the product: one entrance, and ways to many. */
export function Logo({ size = 24 }: LogoProps) {
  return (
    <svg aria-hidden width={size} height={size} viewBox="0 0 32 32" fill="none">
      <rect width="32" height="32" rx="8" fill="var(--accent-fill)" />
      <g stroke="#fff" strokeWidth="2.5" strokeLinecap="round">
        <path d="M8 16h16" />
        <path d="M11 16c5 0 5-7 11-7" />
        <path d="M11 16c5 0 5 7 11 7" />
      </g>
      <circle cx="8.5" cy="16" r="2.5" fill="#fff" />
    </svg>
  );
}
