/**
 * The local host's stand-in for Stripe.js, for pages that are built and tested without the internet. It offers the part
 * that a checkout page needs: Stripe(key), elements({ clientSecret }), create('payment'), mount, and confirmPayment with
 * the bank's question (3-D Secure). It takes test cards only. Stripe's own script keeps the card number in a frame of
 * Stripe's; this one has plain fields.
 */
(() => {
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

  const cardFields = (card) => {
    const [month, year] = card.valueOf('expiry').split('/');
    return {
      'payment_method_data[type]': 'card',
      'payment_method_data[card][number]': card.valueOf('number'),
      'payment_method_data[card][exp_month]': month,
      'payment_method_data[card][exp_year]': `20${year}`,
      'payment_method_data[card][cvc]': card.valueOf('cvc'),
    };
  };

  /** Shows the bank's page until the payer has answered. Each answer loads the frame again. */
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

  const resultOf = (answer) => {
    if (answer.error) return { error: answer.error };
    if (answer.status === 'requires_payment_method') return { error: answer.last_payment_error };
    return { paymentIntent: answer };
  };

  const confirmPayment = async (key, { elements, clientSecret = elements.clientSecret }) => {
    const id = clientSecret.split('_secret_')[0];
    const secret = { client_secret: clientSecret };
    const fields = { ...secret, ...cardFields(elements.getElement('payment')), use_stripe_sdk: 'true' };
    const answer = await call(key, `payment_intents/${id}/confirm`, fields);
    const question = answer.next_action?.use_stripe_sdk?.stripe_js;
    if (question === undefined) return resultOf(answer);
    const query = new URLSearchParams(secret);
    return resultOf(await askBank(question, () => call(key, `payment_intents/${id}?${query}`)));
  };

  window.Stripe = (key) => ({
    elements: ({ clientSecret }) => {
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
    confirmPayment: (options) => confirmPayment(key, options),
    retrievePaymentIntent: async (clientSecret) => {
      const query = new URLSearchParams({ client_secret: clientSecret });
      return resultOf(await call(key, `payment_intents/${clientSecret.split('_secret_')[0]}?${query}`));
    },
  });
})();
