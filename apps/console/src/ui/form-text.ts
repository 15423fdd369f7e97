/** The text of a field of a form; empty when there is none. */
export function formText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

/** The text of a field of a form without spaces around it; empty when there is none. */
export const trimmedText = (form: FormData, name: string): string => formText(form, name).trim();
