interface SignInPage {
  readonly title: string;
  readonly text: string;
  /** Starts the sign-in again. */
  readonly retryPath: string;
  readonly passwordPath: string;
}

/** The page that a browser gets when a sign-in through the provider did not succeed. */
export const signInPage = ({
  title,
  text,
  retryPath,
  passwordPath,
}: SignInPage): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<style>
  :root { color-scheme: light dark; }
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 36rem; margin: 4rem auto; padding: 0 1rem; }
</style>
</head>
<body>
<h1>${html(title)}</h1>
<p>${html(text)}</p>
<p><a href="${html(retryPath)}">Try again</a></p>
<p><a href="${html(passwordPath)}">Sign in with a password</a></p>
</body>
</html>
`;

const html = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
