const stripe = window.Stripe(document.body.dataset.key);
const elements = stripe.elements({ mode: 'setup', currency: 'usd', paymentMethodCreation: 'manual' });
elements.create('payment').mount('#card-element');

const say = (text) => {
  document.querySelector('#message').textContent = text;
};

const call = async (path, body) => {
  const response = await fetch(path, body && { method: 'POST', body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? 'not found');
  return answer;
};

const showCards = async () => {
  const items = (await call('/cards')).map(({ card_brand: brand, card_last_four: digits, setup_status: status }) => {
    const item = document.createElement('li');
    item.textContent = `${brand} ${digits}: ${status === 'requires_action' ? 'not confirmed yet' : 'saved'}`;
    return item;
  });
  document.querySelector('#cards').replaceChildren(...items);
};

const saveCard = async () => {
  await elements.submit();
  const { error, paymentMethod } = await stripe.createPaymentMethod({ elements });
  if (error) return say(error.message);
  const card = await call('/cards', { token: paymentMethod.id });
  if (card.setup_status !== 'requires_action') return say('Saved.');
  const asked = await stripe.handleNextAction({ clientSecret: card.client_secret });
  return say(asked.error ? asked.error.message : 'Saved.');
};

document.querySelector('#save').onsubmit = (event) => {
  event.preventDefault();
  say('Saving …');
  saveCard()
    .catch((error) => say(error.message))
    .finally(showCards);
};
await showCards();
