import tseslint from "typescript-eslint";

export default tseslint.config(...tseslint.configs.strict, {
  rules: {
    "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
    "max-lines": ["error", 300],
    "no-restricted-properties": ["error", { property: "innerHTML", message: "Build nodes: text from the server is text." }],
  },
});
