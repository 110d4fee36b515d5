// SPDX-License-Identifier: Apache-2.0
#ifndef RECLAIM_COMMON_OPENSSL_PTR_H_
#define RECLAIM_COMMON_OPENSSL_PTR_H_

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"

namespace reclaim {

// Owners of OpenSSL's objects. Free: the function that OpenSSL gives for the type.
template <auto Free>
struct OpensslFree {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <typename T, auto Free>
using OpensslPtr = std::unique_ptr<T, OpensslFree<Free>>;

using BioPtr = OpensslPtr<BIO, BIO_free_all>;
using EvpKeyPtr = OpensslPtr<EVP_PKEY, EVP_PKEY_free>;
using X509Ptr = OpensslPtr<X509, X509_free>;
using X509ExtensionPtr = OpensslPtr<X509_EXTENSION, X509_EXTENSION_free>;

// A BIO to read `text` from, which must outlive it.
inline BioPtr ReadBio(absl::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A BIO to write to, and what has been written to it.
inline BioPtr WriteBio() { return BioPtr(BIO_new(BIO_s_mem())); }
inline std::string TextOf(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace reclaim

#endif  // RECLAIM_COMMON_OPENSSL_PTR_H_
