// Arguments of a call from TypeScript, checked. The first one that is wrong throws, naming itself; after that every
// getter answers zero, so a function reads all of its arguments and then asks `ok()` once.
#pragma once
#include <node_api.h>

#include <cstdint>
#include <string>

#include "reactor.h"

namespace s3a {

class Arguments {
 public:
  static constexpr size_t kMost = 8;

  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    size_t count = kMost;
    napi_get_cb_info(env, info, &count, values_, &self_, nullptr);
  }

  bool ok() const { return ok_; }
  napi_value value(size_t index) const { return values_[index]; }
  napi_value self() const { return self_; }

  /** A whole number in [least, most]. */
  int64_t integer(size_t index, const char* name, int64_t least, int64_t most) {
    double number = 0;
    if (napi_get_value_double(env_, values_[index], &number) != napi_ok ||
        !(number >= static_cast<double>(least) && number <= static_cast<double>(most)) ||
        number != static_cast<double>(static_cast<int64_t>(number))) {
      return wrong(name, "is not a whole number in its range"), 0;
    }
    return static_cast<int64_t>(number);
  }

  bool flag(size_t index, const char* name) {
    bool value = false;
    if (napi_get_value_bool(env_, values_[index], &value) != napi_ok) wrong(name, "is not a boolean");
    return value;
  }

  std::string text(size_t index, const char* name) {
    char bytes[4096];
    size_t length = 0;
    if (napi_get_value_string_utf8(env_, values_[index], bytes, sizeof bytes, &length) != napi_ok) {
      return wrong(name, "is not a string"), "";
    }
    return std::string(bytes, length);
  }

  Span bytes(size_t index, const char* name) { return typedArray(index, name, napi_uint8_array); }

  int32_t* words(size_t index, const char* name, size_t& length) {
    const Span span = typedArray(index, name, napi_int32_array);
    length = span.length;
    return reinterpret_cast<int32_t*>(span.bytes);
  }

  double* doubles(size_t index, const char* name, size_t least, size_t& length) {
    const Span span = typedArray(index, name, napi_float64_array);
    length = span.length;
    if (span.length < least) wrong(name, "is too short");
    return reinterpret_cast<double*>(span.bytes);
  }

  void wrong(const char* name, const char* what) {
    if (ok_) napi_throw_range_error(env_, nullptr, (std::string(name) + " " + what).c_str());
    ok_ = false;
  }

 private:
  Span typedArray(size_t index, const char* name, napi_typedarray_type wanted) {
    napi_typedarray_type type;
    Span span;
    void* memory = nullptr;
    if (napi_get_typedarray_info(env_, values_[index], &type, &span.length, &memory, nullptr, nullptr) != napi_ok ||
        type != wanted) {
      wrong(name, "is not a typed array of the right kind");
      return Span();
    }
    span.bytes = static_cast<uint8_t*>(memory);
    return span;
  }

  napi_env env_;
  napi_value values_[kMost] = {};
  napi_value self_ = nullptr;
  bool ok_ = true;
};

/** A JavaScript number. */
inline napi_value numberValue(napi_env env, double number) {
  napi_value value;
  napi_create_double(env, number, &value);
  return value;
}

inline void setFunction(napi_env env, napi_value object, const char* name, napi_callback callback) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function);
  napi_set_named_property(env, object, name, function);
}

}  // namespace s3a
