/** A ledger with some members replaced. The others run on the ledger itself, and getters are read on each access. */
export function ledgerWith<L extends object, O extends Partial<L>>(ledger: L, replaced: O): L {
  return new Proxy(ledger, {
    get(target, name) {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
