// The umask of programs that write a node's files.

/**
 * Files have the modes that the code gives them, whatever umask the shell had that started the program: other accounts read some of them,
 * and nobody else may write them. A unit of systemd has the same.
 */
export const takeOwnUmask = (): void => void process.umask(0o022)
