import { type RateLimiter, slidingWindow } from 'rxjs-sluice';

/** The limits of an account at a provider: both apply to each call. */
export const accountLimits = ({ requests, tokens }: { requests: number; tokens: number }) => ({
  // A second more than a minute: see "A margin for the network" in the README.
  requests: slidingWindow({ permits: requests, interval: 61_000 }),
  tokens: slidingWindow({ permits: tokens, interval: 61_000 }),
});

export interface Prompt {
  prompt: string;
  maxTokens: number;
  signal?: AbortSignal;
}

export interface Completion {
  text: string;
  /** The tokens that the provider has counted: those of the prompt and of the text. */
  usedTokens: number;
}

/** About four characters are a token in English. The provider's tokenizer is more exact. */
const tokensOf = (text: string) => Math.ceil(text.length / 4);

/** Whether the provider has responded with an error: the clients of most providers then set the HTTP status. */
const isRejection = (error: unknown) => (error as { status?: number } | undefined)?.status !== undefined;

/** Returns a function that calls the provider within the limits of the account, which all processes share. */
export function llmClient(
  limiter: RateLimiter<'requests' | 'tokens'>,
  callProvider: (prompt: Prompt) => Promise<Completion>,
): (prompt: Prompt) => Promise<Completion> {
  return async (prompt) => {
    const estimate = tokensOf(prompt.prompt) + prompt.maxTokens;
    const permit = await limiter.acquire({ requests: 1, tokens: estimate }, { signal: prompt.signal });
    try {
      const completion = await callProvider(prompt);
      await permit.settle({ tokens: completion.usedTokens }); // refunds the rest of the estimate, or charges the excess
      return completion;
    } catch (error) {
      // The provider counts a call that it rejects as a request, but generates nothing. A call that was aborted, or that has no
      // response, keeps its estimate: the provider may have generated all of it.
      if (isRejection(error)) await permit.settle({ tokens: tokensOf(prompt.prompt) });
      throw error;
    }
  };
}
