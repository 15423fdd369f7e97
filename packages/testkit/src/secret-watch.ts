/** Collects the secrets that tests make, and the texts in which none may be; the test environment searches them at the end of each file. */
interface SecretWatch {
  secret(kind: string, value: string | undefined): void;
  text(source: string, text: string): void;
}

const SECRET_SETTING = /(?:TOKEN|SECRET|KEY|PASSWORD)$/;

/** The watch of this process; there is none outside of the test command. */
const watch = (): SecretWatch | undefined =>
  (globalThis as { testSecrets?: SecretWatch }).testSecrets;

/** Registers a secret: it must not be in any text. */
export const watchSecret = (kind: string, value: string): void => watch()?.secret(kind, value);

/** Registers the secrets of an environment. */
export function watchEnvironment(environment: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(environment))
    if (SECRET_SETTING.test(name)) watchSecret(name, value);
}

/** Registers a text: a line of a log or of an output. */
export const watchText = (source: string, text: string): void => watch()?.text(source, text);
