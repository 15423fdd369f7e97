type Variables = Readonly<Record<string, string | undefined>>;

/** What browsers and engines need to find their files, fonts, certificates, displays and the system's proxy. */
const NAMES = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'XAUTHORITY',
  'DBUS_SESSION_BUS_ADDRESS',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'CHROME_DEVEL_SANDBOX',
  'KRB5CCNAME',
  'KRB5_CONFIG',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  // Windows.
  'ALLUSERSPROFILE',
  'APPDATA',
  'COMSPEC',
  'LOCALAPPDATA',
  'NUMBER_OF_PROCESSORS',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'USERPROFILE',
  'WINDIR',
]);
const PREFIXES = ['LC_', 'XDG_', 'FONTCONFIG_', 'SSL_CERT_'];

/** The variables that the processes of a browser may read; the tool's own have its token and the user's keys. */
export function childEnvironment(environment: Variables): Variables {
  return Object.fromEntries(
    Object.entries(environment).filter(([name]) => {
      // Names of proxies are often lowercase, and on Windows all names are case-insensitive.
      const known = name.toUpperCase();
      return NAMES.has(known) || PREFIXES.some((prefix) => known.startsWith(prefix));
    }),
  );
}
