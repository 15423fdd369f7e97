/** A `ref` for what appears in a dialog after a click: scrolls it into view where the dialog is longer than the window. */
export function revealInDialog(element: HTMLElement | null): void {
  const isInDialog = element?.closest('.dialog-body') instanceof HTMLElement;
  if (isInDialog) element?.scrollIntoView({ block: 'nearest' });
}
