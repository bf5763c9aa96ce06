// What each file gives to the addon's exports.
#pragma once
#include <node_api.h>

namespace s3a {

// reactor-object.cc
napi_value createReactor(napi_env env, napi_callback_info info);
// digester.cc
napi_value createDigester(napi_env env, napi_callback_info info);
// files.cc
napi_value allocateAligned(napi_env env, napi_callback_info info);
napi_value preallocate(napi_env env, napi_callback_info info);
napi_value lockFile(napi_env env, napi_callback_info info);
napi_value raiseFileLimit(napi_env env, napi_callback_info info);
napi_value adviseCold(napi_env env, napi_callback_info info);
napi_value checksumOf(napi_env env, napi_callback_info info);
// lent-pages.cc
napi_value lentPagesSurvive(napi_env env, napi_callback_info info);

}  // namespace s3a
