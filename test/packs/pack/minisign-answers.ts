/** Made with the program minisign 0.11, for tests alone: nobody trusts these keys. */
export const PAYLOAD = Buffer.from('hello pack\n');

/** `minisign -G -W`. */
export const PLAIN = {
  id: '420457CD9EAAC2AC',
  publicText:
    'untrusted comment: minisign public key 420457CD9EAAC2AC\n' +
    'RWSswqqezVcEQsFBgyivh59hNaR2y/4Zl2IB7KtLPwFCnUUZ0gOvuSDi\n',
  secretText:
    'untrusted comment: plain key\n' +
    'RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAArMKqns1XBEL9s+NNawXtdvsUlCXhRtxlGDPuR612YbNatfH3M4l6dMFBgyivh59hNaR2y/4Zl2IB7KtLPwFCnUUZ0gOvuSDiAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n',
  /** Over the hash of `PAYLOAD`, as minisign signs today. */
  hashed:
    'untrusted comment: signature from minisign secret key\n' +
    'RUSswqqezVcEQqwnnKhejXYcUtQHbQbrPy9O/d4l5TK/XGrtoKvUcUDCd30ZHf7PzZKpWkQg1ACKgI4qSjTksE+022yJSsw3TAE=\n' +
    'trusted comment: skillwright pack name=demo version=1.0.0\n' +
    'grXk2eafwHaXtZhi5kyyr3rkwnn0EtKwM1afNM5JFck24qzYApMbKTegIkQCzhl8OZL7/i27rvkJNq2f5GNiCw==\n',
  hashedComment: 'skillwright pack name=demo version=1.0.0',
  /** Over `PAYLOAD` itself: `minisign -S -l`. */
  legacy:
    'untrusted comment: signature from minisign secret key\n' +
    'RWSswqqezVcEQqJozDLj5M5MOHKvEd6GPL3I3oOjMrap72u6mWPQxKDUIBuI6cOTWDVQ91+dBu/h0cBxlabWowMJhXopyA4oWAo=\n' +
    'trusted comment: legacy\n' +
    'Pimmgl5gH4wcG6NA9zrmLSPfJ4948IWGaH/pOHcVD/0dkyZgHOQZW6I4314RK1B9eguQMSE5Gu+a6gr8KyRTAQ==\n',
};

/** `minisign -G` with a password. */
export const ENCRYPTED = {
  id: 'B34B0891AEF9ABE9',
  password: 'correct horse',
  publicText:
    'untrusted comment: minisign public key B34B0891AEF9ABE9\n' +
    'RWTpq/mukQhLs8KPpDuQ2tAWn4XspdFxglxKTEyZz/VP+e1Seuhp5xeG\n',
  secretText:
    'untrusted comment: encrypted key\n' +
    'RWRTY0IyktvgAI8GjzvwA7X1SN3by6mmTxR0rT5ItBT4/S0VbGwAAAACAAAAAAAAAEAAAAAA3lOnWxJDbUxrNqv030dP1nYbQ8k10IoLZ25DpUDpzNzSMK4qik+CjS22EpzNFi9XtO71ESEG8hU6gICAddKgNdhP9gH4bTbq5m4qgoC827uV3s7o2smTtF7O9uEC/DlPYagfh5oAcNY=\n',
  hashed:
    'untrusted comment: signature from minisign secret key\n' +
    'RUTpq/mukQhLsxu43u8fbhYaaxSKNYkzOACRu9eL+0ypmlAPdSgrcYqoOE3OntAFgRLrPvAniNmzvQca7b2bRDEKuLJYq7NuQAM=\n' +
    'trusted comment: from encrypted\n' +
    'hxYuBNt7Taa3QJe8cLQFdXB2SkX6XdIBzHo4fdADB870FBOGeiqvWLVe+29VvIrOdRd0rbUQnWAF6HsxgGW/BA==\n',
};
