"use strict";
/* What each matrix is, in a sentence. */
const WORDS = {
  x_p: "The picture is cut into four patches; each becomes a row of its pixels.",
  e: "A linear layer makes a token of each patch.",
  z_0: "The class token is put before the four patches, and every token gets its place.",
  X: "Each row is moved to mean 0 and scaled to deviation 1, then multiplied by γ and moved by β.",
  Q: "Queries: what each token looks for.",
  K: "Keys: what each token can be found by.",
  V: "Values: what each token hands on.",
  S: "Scores: how well the query of row i suits the key of column j. The course's code divides by √D, the width of all heads; the paper by √d_k, that of one.",
  P: "Weights: row i says how much token i takes from each of the others. A row sums to 1.",
  head: "Each token takes the values of the others, weighed by its row of P.",
  cat: "The heads stand side by side.",
  "z'": "W^O mixes the heads, and what was there before is added.",
  "X'": "The norm before the MLP.",
  H: "The hidden layer of the MLP, each token by itself.",
  G: "GELU lets positive numbers through and stops most negative ones.",
  z: "The second layer of the MLP, and the sum with what was there before.",
  y: "The answer is read from the class token alone.",
  h: "The hidden layer of the head.",
  g: "GELU of it.",
  logits: "A number for each digit.",
  p: "Probabilities: the exponentials of the logits over their sum.",
  loss: "Small where the right digit is likely.",
  dlogits: "Here it goes backward: how the loss changes with each logit.",
  dg: "What the loss wants of g.",
  dh: "The slope of GELU decides what goes on.",
  dy: "It reaches the class token's last state.",
  dz: "The gradient of a block's output. Through the sums it comes from the last block undiminished.",
  dG: "Back through the second layer of the MLP.",
  dH: "The slope of GELU decides what goes on.",
  "dX'": "Back through the first layer of the MLP.",
  "dz'": "The sum hands the gradient to both its parts: the branch and the path past it.",
  dhead: "Back through W^O, each head its columns.",
  dV: "A value gets the gradients of the tokens that looked at it, weighed as they did.",
  dP: "Which weights should have been larger.",
  "d(Q K^T)": "Back through the softmax: a row of P sums to 1, so that a row here sums to 0.",
  dQ: "What the queries should have looked for.",
  dK: "What the keys should have been found by.",
  dX: "From queries, keys and values together.",
  de: "The patches' rows.",
};

/* The sentence for a symbol: "z'_2" is that of z'. */
function wordsFor(symbol, pass) {
  if (pass === "step")
    return "A step of AdamW: m and v are means of the gradient and of its square; the weight moves against m / √v.";
  const plain = WORDS[symbol] || WORDS[symbol.replace(/_\d+$/, "")];
  if (plain) return plain;
  return /^d/.test(symbol) ? "How the loss changes with this weight: the step goes the other way." : "";
}
