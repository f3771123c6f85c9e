/**
 * The local host's stand-in for Stripe.js, for pages that are built and tested without the internet. It offers the part
 * that pages need to pay and to save a card: Stripe(key), elements, create('payment'), mount, the confirmations,
 * createPaymentMethod, handleNextAction and the bank's question (3-D Secure). It takes test cards only. Stripe's own script keeps the card number in a frame of
 * Stripe's; this script has plain fields.
 */
{
  const api = new URL('v1/', document.currentScript.src).href;

  const call = async (key, path, fields) => {
    const response = await fetch(`${api}${path}`, {
      headers: { authorization: `Bearer ${key}` },
      ...(fields && { method: 'POST', body: new URLSearchParams(fields) }),
    });
    return response.json();
  };

  const field = (name, label, value) =>
    `<label>${label} <input name="${name}" value="${value}" autocomplete="off" inputmode="numeric"></label> `;

  const cardElement = () => {
    const fields = document.createElement('div');
    fields.innerHTML = `${field('number', 'Test card', '4242 4242 4242 4242')}${field('expiry', 'MM/YY', '12/34')}${field('cvc', 'CVC', '123')}`;
    return {
      mount: (place) => (typeof place === 'string' ? document.querySelector(place) : place).replaceChildren(fields),
      unmount: () => fields.remove(),
      on: (event, listener) => event === 'ready' && queueMicrotask(listener),
      valueOf: (name) => fields.querySelector(`[name=${name}]`).value.trim(),
    };
  };

  /** @param prefix the card's place in the request: `payment_method_data` of a confirmation, or the top level */
  const cardFields = (card, prefix, { name, email } = {}) => {
    const [month, year] = card.valueOf('expiry').split('/');
    const fields = {
      type: 'card',
      'card[number]': card.valueOf('number'),
      'card[exp_month]': month,
      'card[exp_year]': `20${year}`,
      'card[cvc]': card.valueOf('cvc'),
      ...(name && { 'billing_details[name]': name }),
      ...(email && { 'billing_details[email]': email }),
    };
    if (prefix === '') return fields;
    // card[number] becomes payment_method_data[card][number].
    const nested = (field) => field.replace(/^\w+/, (first) => `${prefix}[${first}]`);
    return Object.fromEntries(Object.entries(fields).map(([field, value]) => [nested(field), value]));
  };

  /** Shows the bank's page until the payer responds. Each response reloads the frame. */
  const askBank = (url, readIntent) =>
    new Promise((resolve) => {
      const dialog = document.createElement('dialog');
      const frame = document.createElement('iframe');
      frame.title = 'The question of your bank';
      frame.addEventListener('load', async () => {
        const intent = await readIntent();
        if (intent.status === 'requires_action') return;
        dialog.remove();
        resolve(intent);
      });
      frame.src = url;
      dialog.append(frame);
      document.body.append(dialog);
      dialog.showModal();
    });

  const pathOf = (clientSecret) => {
    const id = clientSecret.split('_secret_')[0];
    return `${id.startsWith('seti_') ? 'setup_intents' : 'payment_intents'}/${id}`;
  };

  const read = (key, clientSecret) =>
    call(key, `${pathOf(clientSecret)}?${new URLSearchParams({ client_secret: clientSecret })}`);

  const resultOf = (answer) => {
    if (answer.error) return { error: answer.error };
    if (answer.status === 'requires_payment_method' && (answer.last_payment_error ?? answer.last_setup_error))
      return { error: answer.last_payment_error ?? answer.last_setup_error };
    return answer.object === 'setup_intent' ? { setupIntent: answer } : { paymentIntent: answer };
  };

  /** Shows the bank's question, if any. */
  const finish = async (key, clientSecret, answer) => {
    const next = answer.next_action;
    const question = next?.use_stripe_sdk?.stripe_js ?? next?.redirect_to_url?.url;
    if (question === undefined) return resultOf(answer);
    return resultOf(await askBank(question, () => read(key, clientSecret)));
  };

  const confirm = async (key, clientSecret, method) => {
    const fields = { client_secret: clientSecret, ...method, use_stripe_sdk: 'true' };
    return finish(key, clientSecret, await call(key, `${pathOf(clientSecret)}/confirm`, fields));
  };

  const confirmElements = (key, { elements, clientSecret = elements.clientSecret, confirmParams }) => {
    const billing = confirmParams?.payment_method_data?.billing_details;
    return confirm(key, clientSecret, cardFields(elements.getElement('payment'), 'payment_method_data', billing));
  };

  /** @param data `{ payment_method: id }`, `{ payment_method: { card, billing_details } }`, or nothing for the intent's card */
  const confirmCard = (key, clientSecret, { payment_method: method } = {}) => {
    if (method === undefined) return confirm(key, clientSecret, {});
    if (typeof method === 'string') return confirm(key, clientSecret, { payment_method: method });
    return confirm(key, clientSecret, cardFields(method.card, 'payment_method_data', method.billing_details));
  };

  const createPaymentMethod = async (key, { elements, card, params, billing_details: billing }) => {
    const element = card ?? elements.getElement('payment');
    const answer = await call(key, 'payment_methods', cardFields(element, '', params?.billing_details ?? billing));
    return answer.error ? { error: answer.error } : { paymentMethod: answer };
  };

  window.Stripe = (key) => ({
    elements: ({ clientSecret } = {}) => {
      let card;
      return {
        clientSecret,
        create: () => {
          card = cardElement();
          return card;
        },
        getElement: () => card,
        submit: async () => ({}),
      };
    },
    confirmPayment: (options) => confirmElements(key, options),
    confirmSetup: (options) => confirmElements(key, options),
    confirmCardPayment: (clientSecret, data) => confirmCard(key, clientSecret, data),
    confirmCardSetup: (clientSecret, data) => confirmCard(key, clientSecret, data),
    createPaymentMethod: (options) => createPaymentMethod(key, options),
    handleNextAction: async ({ clientSecret }) => finish(key, clientSecret, await read(key, clientSecret)),
    retrievePaymentIntent: async (clientSecret) => resultOf(await read(key, clientSecret)),
    retrieveSetupIntent: async (clientSecret) => resultOf(await read(key, clientSecret)),
  });
}
