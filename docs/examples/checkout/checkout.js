const stripe = window.Stripe(document.body.dataset.key);
const form = document.querySelector('#checkout');
const pay = document.querySelector('#pay');
const message = document.querySelector('#message');

const say = (text) => {
  message.textContent = text;
};

const call = async (path, body) => {
  const response = await fetch(path, body && { method: 'POST', body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? 'not found');
  return answer;
};

/** The provider reports to the service by webhook: the service's status is authoritative, not the answer in the browser. */
const showOutcome = async (order) => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    const { status, payment } = await call(`/orders/${order}`);
    if (status === 'succeeded') return say(`Paid. Your payment is ${payment}.`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  return say('Not paid yet.');
};

const createOrder = (provider) => call('/orders', { provider, ...Object.fromEntries(new FormData(form)) });

const payByCard = async () => {
  const { order, client_secret: clientSecret } = await createOrder('provider_a');
  const elements = stripe.elements({ clientSecret });
  elements.create('payment').mount('#payment-element');
  pay.hidden = false;
  form.onsubmit = async (event) => {
    event.preventDefault();
    pay.disabled = true;
    say('Paying …');
    // A declined card shows its error here; the payer may correct it and pay the same order.
    const confirmParams = { return_url: `${location.origin}/?order=${order}` };
    const { error } = await stripe.confirmPayment({ elements, confirmParams, redirect: 'if_required' });
    if (error) say(error.message);
    else await showOutcome(order);
    pay.disabled = false;
  };
};

const payWithPaypal = async () => {
  const { next_action: next } = await createOrder('provider_b');
  location.assign(next.url);
};

const button = (id, work) => {
  document.querySelector(id).onclick = () => work().catch((error) => say(error.message));
};
button('#card', payByCard);
button('#paypal', payWithPaypal);

const returned = new URLSearchParams(location.search).get('order');
if (returned) showOutcome(returned).catch((error) => say(error.message));
