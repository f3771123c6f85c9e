/**
 * The local host's stand-in for Square's Web Payments SDK, for pages that are built and tested without the internet. It offers
 * the part that pages need to charge and to save a card: Square.payments(applicationId, locationId), card(), attach,
 * tokenize(verificationDetails) with the bank's question (3-D Secure), detach and destroy. It takes the test cards of
 * Square's sandbox only, and refuses what Square's SDK refuses. Square's own script keeps the card number in a frame of
 * Square's; this script has plain fields.
 */
{
  /** Square's test cards, with the test tokens for the cards that Square's sandbox treats in a special way. */
  const CARDS = {
    4111111111111111: { brand: 'VISA', token: 'cnon:card-nonce-ok' },
    5105105105105100: { brand: 'MASTERCARD', token: 'cnon:card-nonce-ok' },
    6011000000000004: { brand: 'DISCOVER', token: 'cnon:card-nonce-ok' },
    3569990010095841: { brand: 'JCB', token: 'cnon:card-nonce-ok' },
    4000000000000002: { brand: 'VISA', token: 'cnon:card-nonce-declined' },
    4310000000000007: { brand: 'VISA', token: 'cnon:sim-verified', asks: true },
    5500000000000004: { brand: 'MASTERCARD', token: 'cnon:sim-verified', asks: true },
  };
  const DECLINED_CVV = '911';
  const DECLINED_POSTAL_CODE = '99999';
  const DECLINED_EXPIRY = '01/40';

  const refuse = (name, message) => {
    throw Object.assign(new Error(message), { name });
  };

  const field = (name, label, value) =>
    `<label>${label} <input name="${name}" value="${value}" autocomplete="off" inputmode="numeric"></label> `;

  const FIELDS = [
    field('number', 'Test card', '4111 1111 1111 1111'),
    field('expiry', 'MM/YY', '12/34'),
    field('cvv', 'CVC', '111'),
    field('postal', 'Postal code', '94103'),
  ];

  const INTENTS = ['CHARGE', 'STORE', 'CHARGE_AND_STORE'];
  const isText = (value) => typeof value === 'string';

  /** Required fields by Square's documentation. A charging intent also needs the amount. */
  const RULES = {
    intent: (value) => INTENTS.includes(value),
    billingContact: (value) => typeof value === 'object' && value !== null,
    customerInitiated: (value) => typeof value === 'boolean',
    sellerKeyedIn: (value) => typeof value === 'boolean',
    amount: (value, { intent }) => intent === 'STORE' || (isText(value) && /^\d+(\.\d+)?$/.test(value)),
    currencyCode: (value, { intent }) => intent === 'STORE' || (isText(value) && /^[A-Z]{3}$/.test(value)),
  };

  const checkDetails = (details) => {
    if (typeof details !== 'object' || details === null)
      refuse('VerificationDetailsError', 'tokenize needs verificationDetails to authenticate the buyer');
    for (const [name, accepts] of Object.entries(RULES)) {
      if (!accepts(details[name], details))
        refuse('VerificationDetailsError', `verificationDetails.${name} is invalid`);
    }
    for (const name of Object.keys(details)) {
      if (!Object.hasOwn(RULES, name)) refuse('VerificationDetailsError', `verificationDetails.${name} is unknown`);
    }
  };

  /** Shows the bank's page until the buyer responds. */
  const askBank = () =>
    new Promise((resolve) => {
      const dialog = document.createElement('dialog');
      const frame = document.createElement('iframe');
      frame.title = 'The question of your bank';
      frame.srcdoc = '<p>Do you approve this payment?</p><button>Approve</button> <button>Refuse</button>';
      frame.addEventListener('load', () => {
        for (const button of frame.contentDocument.querySelectorAll('button')) {
          button.addEventListener('click', () => {
            dialog.remove();
            resolve(button.textContent === 'Approve');
          });
        }
      });
      dialog.append(frame);
      document.body.append(dialog);
      dialog.showModal();
    });

  const invalid = (name, message) => ({
    status: 'Invalid',
    errors: [{ type: 'VALIDATION_ERROR', field: name, message }],
  });

  const isPast = (month, year) => new Date(2000 + Number(year), Number(month)) <= new Date();

  const tokenOf = (known, { cvv, expiry, postal }) => {
    if (cvv === DECLINED_CVV) return 'cnon:card-nonce-rejected-cvv';
    if (postal === DECLINED_POSTAL_CODE) return 'cnon:card-nonce-rejected-postalcode';
    return expiry === DECLINED_EXPIRY ? 'cnon:card-nonce-rejected-expiration' : known.token;
  };

  const tokenize = async (entered) => {
    const number = entered.number.replaceAll(' ', '');
    const known = Object.hasOwn(CARDS, number) ? CARDS[number] : undefined;
    if (!known) return invalid('cardNumber', 'Card number is not valid');
    const [, month, year] = /^(0[1-9]|1[0-2])\/(\d\d)$/.exec(entered.expiry) ?? [];
    if (month === undefined || isPast(month, year)) return invalid('expirationDate', 'Expiration date is not valid');
    if (!/^\d{3}$/.test(entered.cvv)) return invalid('cvv', 'CVV is not valid');
    if (entered.postal === '') return invalid('postalCode', 'Postal code is not valid');
    if (known.asks && !(await askBank())) {
      const errors = [{ type: 'BUYER_VERIFICATION_ERROR', message: 'The buyer was not verified' }];
      return { status: 'Error', errors };
    }
    const card = { brand: known.brand, last4: number.slice(-4), expMonth: Number(month), expYear: 2000 + Number(year) };
    return { status: 'OK', token: tokenOf(known, entered), details: { method: 'Card', card } };
  };

  const createCard = () => {
    const fields = document.createElement('div');
    fields.innerHTML = FIELDS.join('');
    let state = 'new';
    const entered = () =>
      Object.fromEntries([...fields.querySelectorAll('input')].map(({ name, value }) => [name, value.trim()]));
    return {
      attach: async (place) => {
        if (state === 'destroyed') refuse('PaymentMethodDestroyedError', 'The card was destroyed');
        if (state === 'attached') refuse('PaymentMethodAlreadyAttachedError', 'The card is attached already');
        const element = isText(place) ? document.querySelector(place) : place;
        if (!element) refuse('ElementNotFoundError', `No element matches ${place}`);
        element.replaceChildren(fields);
        state = 'attached';
      },
      tokenize: async (details) => {
        if (state !== 'attached') refuse('PaymentMethodNotAttachedError', 'The card is not attached');
        checkDetails(details);
        return tokenize(entered());
      },
      detach: async () => {
        fields.remove();
        state = 'new';
        return true;
      },
      destroy: async () => {
        fields.remove();
        state = 'destroyed';
        return true;
      },
    };
  };

  window.Square = {
    payments: (applicationId, locationId) => {
      if (!isText(applicationId) || !/^(sandbox-)?sq0id[bp]-.+/.test(applicationId))
        refuse('InvalidApplicationIdError', 'The Payment applicationId option is not in the correct format.');
      if (!isText(locationId) || locationId === '')
        refuse('InvalidLocationIdError', 'The Payment locationId option is not in the correct format.');
      return { card: async () => createCard(), setLocale: async () => undefined };
    },
  };
}
