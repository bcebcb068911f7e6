import { type Config, choices, numberOf, onlyOf, ranges } from '../model/config.ts';

/** The form of the settings. It shows a configuration, and reports each change of it. */
export class Settings {
  readonly #form: HTMLFormElement;

  constructor(form: HTMLFormElement, changed: (config: Config) => void) {
    this.#form = form;
    for (const [name, { least, greatest, step }] of Object.entries(ranges))
      Object.assign(this.#control(name), { min: least, max: greatest, step });
    form.addEventListener('submit', (event) => event.preventDefault());
    form.addEventListener('change', () => {
      const config = this.#read();
      this.show(config);
      changed(config);
    });
  }

  show(config: Config): void {
    for (const [name, value] of Object.entries(config)) {
      const control = this.#control(name);
      // 0 is the default, which the placeholder names.
      control.value = value === 0 ? '' : String(value);
      const kind = onlyOf[name as keyof Config];
      control.closest('label')!.hidden = kind !== undefined && kind !== config.kind;
    }
    this.#control('rate').disabled = config.arrivals === 'hand';
  }

  #read(): Config {
    const config: Record<string, unknown> = {};
    for (const name of Object.keys(choices)) config[name] = this.#control(name).value;
    for (const name of Object.keys(ranges) as (keyof typeof ranges)[])
      config[name] = numberOf(name, this.#control(name).value);
    return config as unknown as Config;
  }

  #control(name: string): HTMLInputElement | HTMLSelectElement {
    return this.#form.elements.namedItem(name) as HTMLInputElement | HTMLSelectElement;
  }
}
