/** The text of a field of a form, without spaces around it where `isTrimmed`; empty when there is none. */
export function formText(form: FormData, name: string, isTrimmed = false): string {
  const value = form.get(name);
  const text = typeof value === 'string' ? value : '';
  return isTrimmed ? text.trim() : text;
}
