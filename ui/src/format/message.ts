// Texts of monitoring.
/** A collector's message in one line. It has one line for each thing that it complains about. */
export const messageText = (message: string): string => message.replaceAll('\n', '; ')
