/** The commit that was built; the build writes it into the compiled file where git is available. */
export const BUILD_HASH: string = 'dev';
