// Passkeys: have the browser make one or use one, and send what it answers with the form.

interface PasskeyOptions {
  publicKey: PublicKeyCredentialCreationOptionsJSON & PublicKeyCredentialRequestOptionsJSON;
}

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]")) {
  // Where there are none the other ways stay: passkeys belong to names, and an address is none.
  form.hidden = !("PublicKeyCredential" in window) || /^[\d.]+$|^\[/.test(location.hostname);
  form.addEventListener("submit", (event) => {
    const field = form.elements.namedItem("credential") as HTMLInputElement;
    if (field.value) return;
    event.preventDefault();
    void answer(form).then((credential) => {
      field.value = credential;
      if (credential) form.submit();
      showFailure(form, !credential);
    });
  });
}

/** Return the browser's answer as JSON; empty when it gave none, whatever the reason. */
async function answer(form: HTMLFormElement): Promise<string> {
  showFailure(form, false);
  try {
    const { publicKey } = await options(form);
    const credential =
      form.dataset["passkey"] === "make"
        ? await navigator.credentials.create({ publicKey: toMake(publicKey) })
        : await navigator.credentials.get({ publicKey: toUse(publicKey) });
    return credential ? JSON.stringify(written(credential as PublicKeyCredential)) : "";
  } catch {
    return "";
  }
}

/** Return what the server asks: in the page, or at an address that makes a new challenge for each try. */
async function options(form: HTMLFormElement): Promise<PasskeyOptions> {
  const address = form.dataset["options"];
  if (!address) return JSON.parse(document.getElementById("passkey-options")?.textContent ?? "") as PasskeyOptions;
  const response = await fetch(address, { headers: { "X-Requested-With": "XMLHttpRequest" } });
  return ((await response.json()) as { request_options: PasskeyOptions }).request_options;
}

function toMake(json: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptions {
  return {
    rp: json.rp,
    challenge: bytes(json.challenge),
    user: { ...json.user, id: bytes(json.user.id) },
    pubKeyCredParams: json.pubKeyCredParams,
    excludeCredentials: (json.excludeCredentials ?? []).map(known),
    extensions: { credProps: true },
    // It is to log in alone: kept where it is made, and asked for a finger or a PIN.
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  };
}

function toUse(json: PublicKeyCredentialRequestOptionsJSON): PublicKeyCredentialRequestOptions {
  return {
    challenge: bytes(json.challenge),
    allowCredentials: (json.allowCredentials ?? []).map(known),
    ...(json.rpId ? { rpId: json.rpId } : {}),
    userVerification: (json.userVerification ?? "preferred") as UserVerificationRequirement,
  };
}

function known(each: PublicKeyCredentialDescriptorJSON): PublicKeyCredentialDescriptor {
  return { ...each, id: bytes(each.id) } as PublicKeyCredentialDescriptor;
}

/** Write a credential as JSON, as its own toJSON does where browsers have it. */
function written(credential: PublicKeyCredential): object {
  const response: Record<string, string | undefined> = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    const value = (credential.response as unknown as Record<string, unknown>)[name];
    if (value instanceof ArrayBuffer) response[name] = text(value);
  }
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    response,
    clientExtensionResults: credential.getClientExtensionResults(),
  };
}

function showFailure(form: HTMLFormElement, isShown: boolean): void {
  const failure = form.querySelector<HTMLElement>("[data-passkey-failed]");
  if (failure) failure.hidden = !isShown;
}

function bytes(base64url: string): Uint8Array<ArrayBuffer> {
  const base64 = base64url.replace(/-/g, "+").replace(/_/g, "/");
  return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
}

function text(buffer: ArrayBuffer): string {
  const base64 = btoa(String.fromCharCode(...new Uint8Array(buffer)));
  return base64.replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}
