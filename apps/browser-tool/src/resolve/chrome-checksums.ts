/**
 * The SHA-256 of archives by version and platform. A build with an entry is installed only from that archive, unless
 * `BROWSER_CHROME_SHA256` is set or the mirror is on this machine. docs/browser-tool.md says how to add one.
 */
export const CHROME_CHECKSUMS: Readonly<Record<string, string>> = {
  '155.0.8059.39/linux64': '39dcb8c46550632a3d911850ab3b8af840b4e3f6d8622faa2018eb8756278786',
  '155.0.8059.39/linux-arm64': '9fb86f7c0b2734c5febc0bbb4e85f37da43553f3f8a7970949828c5713e87e94',
  '155.0.8059.39/mac-x64': '6338a784c691f42dd1ed6aeeef650171c7d72cf74bdb8450d0079864e72a8074',
  '155.0.8059.39/mac-arm64': 'b3e093c06001c41e68decbc8dd4a62f9efe4bf4e4dd247a686ea531863448d75',
  '155.0.8059.39/win64': '20798f7c51a22def0b3d02e526a8f52e7ee2c7eddcde9d81a4c23f618e8b5436',
};
