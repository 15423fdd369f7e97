// Takes the place of http2-wrapper in the bundles of the apps. The library got uses it only for HTTP/2, which no call here asks
// for, and loading it reads all root certificates, which takes 50 ms of every start.
const noHttp2 = {
  auto() {
    throw new Error('the bundles contain no HTTP/2');
  },
};
// oxlint-disable-next-line import/no-default-export -- As in the library.
export default noHttp2;
