/** The colours of a picture. Those of the processes differ in lightness, too, for readers who see few colours. */
export interface Theme {
  background: string;
  text: string;
  muted: string;
  line: string;
  window: string;
  cancelled: string;
  /** The colour of each process, and of the letter on it. */
  processes: readonly string[];
  letter: string;
}

export const themes: Readonly<Record<'light' | 'dark', Theme>> = {
  light: {
    background: '#ffffff',
    text: '#1f2328',
    muted: '#59636e',
    line: '#d1d9e0',
    window: '#eef2f6',
    cancelled: '#1f2328',
    processes: ['#0072b2', '#b34700', '#00735c'],
    letter: '#ffffff',
  },
  dark: {
    background: '#0d1117',
    text: '#f0f6fc',
    muted: '#9198a1',
    line: '#3d444d',
    window: '#1c232c',
    cancelled: '#f0f6fc',
    processes: ['#56b4e9', '#f0a05a', '#4fd1a5'],
    letter: '#0d1117',
  },
};
