import { useEffect } from 'react';

/** `j` and `k` go to the next and previous row, `/` finds a request; Enter and Escape are of the browser. */
export function useRowKeys(onFind: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isTyping =
        event.target instanceof HTMLElement &&
        event.target.closest('input, textarea, select, [role="dialog"], [role="listbox"]') !== null;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === '/') {
        event.preventDefault();
        onFind();
      }
      if (event.key === 'j' || event.key === 'k') move(event.key === 'j' ? 1 : -1);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  });
}

function move(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row-button]')];
  const now = rows.findIndex((row) => row === document.activeElement);
  const next = now === -1 ? (step === 1 ? 0 : rows.length - 1) : now + step;
  rows[Math.max(0, Math.min(rows.length - 1, next))]?.focus();
}
