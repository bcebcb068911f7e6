declare module '*.lua' {
  /** The script with its includes resolved. */
  const text: string;
  export default text;
}
