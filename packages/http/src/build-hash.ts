/** The commit that this was built from: the build writes it into the compiled file, where there is git to ask. */
export const BUILD_HASH: string = 'dev';
