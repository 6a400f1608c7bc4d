//! Public keys written by OpenSSL, and tokens signed with the deleted private keys.
//!
//! All tokens are issued by `https://sign-in.example` for `bookrag`, and valid until 2100.

pub(super) const RSA_KEY: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA7nWvCYwoY+flOPIVOWF+\n\
wYnKmIroICvwqk7ujL1wMyZB5Yca0JQLtgnsCqkjCRaIYXMeRmZ2ghWdbp5ZI/HF\n\
LYu5u8LPUn8A7TYlHeMhCStLJ130JXMVqixNz+zQRc4kzDpU9JF8Q0uEE+mEcEI4\n\
Wxp+2juVD+wSel4t/q/9RMOz1YPnm89ztBtD1dA4BOeui8JIn6JnQ/CKijilZX4r\n\
pVh9LdpBKmMEwSXAIfmq3WE26cS0vJIuNT5eExrz1mRMu0ZqDroR9h5m5Qndhvnz\n\
nl6OTruA3t+LljfosG2zm5fZtB8tNenSBuq2E1XS8MP1iCwAOkluaXdVtiy0oW7L\n\
kQIDAQAB\n\
-----END PUBLIC KEY-----\n";

pub(super) const P256_KEY: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYLz7ZKPtx/Fgs/g/lJtP1JL4jFa7\n\
UJQIjtF0YBk6Avrye2dq4txihjUp7fjmZ1PWEGEdKxiVzRPZHkHzSDtUzw==\n\
-----END PUBLIC KEY-----\n";

pub(super) const ED25519_KEY: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MCowBQYDK2VwAyEAlo7gfw1DRrb2o4StjIKKJS0O5XpoYzi1WjUqUHFnMzI=\n\
-----END PUBLIC KEY-----\n";

pub(super) const RSA_TOKEN: &str = "\
eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL3NpZ24taW4uZXhhbXBsZSIsImF1ZCI6ImJvb2tyYWciLCJzdWIiO\
iJyZWFkZXIiLCJleHAiOjQxMDI0NDQ4MDB9.U5jE3uP21XY-jaNEhOPh5WR_rBXfsbqTUPPPg1Ucic2QiaV5GxHbTe7vf6LqGtCrMSyL-EntIH\
o-RwnSvhn-t3GliyLHSKhcnxf8l1fsbB3bcV3w1Aslf9BqYd9XICgHaDeoRtgKE48HcvY3bE9xky8bhex6XbJ9c5-UYTRxlY9v7xtX--_IWXfV\
wcvL8P0cotGJ5oPW3b8-OpBlYRpoM2euGc58If2C8ljgzCc0u8mJWYPuqk0xAQvJX7xl2v5GFSZ2_xc6P0G5vaIshWXRLM1HzQ5MH9ZX8VaWMq\
PBGRD7I3eLlSo4T9IAmH2eoObLcJ7-7mtpEOnAmgLfMHv7lA";

pub(super) const P256_TOKEN: &str = "\
eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL3NpZ24taW4uZXhhbXBsZSIsImF1ZCI6ImJvb2tyYWciLCJzdWIiO\
iJyZWFkZXIiLCJleHAiOjQxMDI0NDQ4MDB9.W0cR90BZTWYYIuquN0CgIAXSsRgTUPxfDPbZQWJocLgBYR-GAITdX4NA7tXSAfJOlMssjMxIqA\
FRTK1x2HOzRw";

pub(super) const ED25519_TOKEN: &str = "\
eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJodHRwczovL3NpZ24taW4uZXhhbXBsZSIsImF1ZCI6ImJvb2tyYWciLCJzdWIiO\
iJyZWFkZXIiLCJleHAiOjQxMDI0NDQ4MDB9.ky8dkMyG1Np_hjPASrqU--Z1mtWtTTtL_zfL55wTmvtsNMeEwnjJi0V9e_Mlbw63m195JCk-c7\
RT2tARslNNBw";

/// Unsupported keys: RSA with 1024 bits, and the curve P-384.
pub(super) const SHORT_RSA_KEY: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQD7uWdM7cdP/mg8Rlz3wVyBYdim\n\
BsCdrC4ABpY86u7bLoPnTboNzZ773S6Fi/2kCPfaQJhr7pIOfBInppgaRnDHNCpp\n\
dsaDdmFCDuIDXQAP4I70+9UQJ4wbEdiPCKh4vMEyjokO1JqPkigC1jc7/g9SZyz0\n\
x1GpQpueNRDSCH3gOwIDAQAB\n\
-----END PUBLIC KEY-----\n";

pub(super) const P384_KEY: &str = "\
-----BEGIN PUBLIC KEY-----\n\
MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEC4MBYIoDaNypU+WPo97GHhaBVYaoOZzH\n\
Xp0P6h3yyEGngpjae0/e3sRSus5i+VBhloHOwZzE5ep75VOdGX76+Hi4eekngpYy\n\
vsN7l7Jc3+igwdhaa95qnY2QbjkyJFTP\n\
-----END PUBLIC KEY-----\n";
