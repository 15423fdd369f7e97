export default () => globalThis.stopStores();
