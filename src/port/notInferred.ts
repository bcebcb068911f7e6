/** `T` as it is inferred elsewhere: TypeScript has its own `NoInfer` from 5.4 on only. */
export type NotInferred<T> = [T][T extends unknown ? 0 : never];
