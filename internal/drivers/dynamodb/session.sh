#!/usr/bin/env bash
# A session of the AWS CLI, as people type it: session.sh AWS URL [TAG VALUE]…
# It prints what all sessions of this folder print: expected.txt.
set -euo pipefail
aws=$1 url=$2
shift 2
export AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=secret AWS_DEFAULT_REGION=us-east-1 AWS_MAX_ATTEMPTS=1 AWS_PAGER= AWS_EC2_METADATA_DISABLED=true

dynamodb() { "$aws" dynamodb --endpoint-url "$url" --output text "$@"; }
words() { tr '\t\n' '  ' | sed 's/ *$//'; }
code() { sed -n 's/.*An error occurred (\([A-Za-z]*\)).*/\1/p'; }
name() { printf 'Client%d#%04d' $(($1 % 12)) "$1"; }
item() {
  local countries=(USA USA USA France Chile) cents=(0 25 5 75)
  local amount=$(($1 / 4)) paid=false
  [ $(($1 % 4)) = 0 ] || amount=$amount.${cents[$1 % 4]}
  [ $(($1 % 2)) = 1 ] || paid=true
  printf '{"InvoiceNumber":{"S":"121212"},"ClientTransactionid":{"S":"%s"},"country":{"S":"%s"},"amount":{"N":"%s"},"paid":{"BOOL":%s},"tags":{"SS":["a","b"]},"lines":{"L":[{"M":{"sku":{"S":"x"},"n":{"N":"%d"}}}]}}' \
    "$(name "$1")" "${countries[$1 % 5]}" "$amount" $paid "$1"
}
key() { printf '{"InvoiceNumber":{"S":"%s"},"ClientTransactionid":{"S":"%s"}}' "${2:-121212}" "$1"; }
ordered() { if LC_ALL=C sort -c "$@" 2>/dev/null; then echo in order; else echo not in order; fi; }

tags=
while [ $# -gt 0 ]; do
  tags="$tags,{\"Key\":\"$1\",\"Value\":\"$2\"}"
  shift 2
done
dynamodb create-table --table-name Invoices --billing-mode PAY_PER_REQUEST --tags "[${tags:1}]" \
  --attribute-definitions AttributeName=InvoiceNumber,AttributeType=S AttributeName=ClientTransactionid,AttributeType=S AttributeName=country,AttributeType=S AttributeName=amount,AttributeType=N \
  --key-schema AttributeName=InvoiceNumber,KeyType=HASH AttributeName=ClientTransactionid,KeyType=RANGE \
  --global-secondary-indexes 'IndexName=by-country,KeySchema=[{AttributeName=country,KeyType=HASH},{AttributeName=amount,KeyType=RANGE}],Projection={ProjectionType=ALL}' >/dev/null
dynamodb wait table-exists --table-name Invoices
echo created "$(dynamodb describe-table --table-name Invoices --query Table.TableStatus)"

dynamodb put-item --table-name Invoices --item "$(item 5)"
for from in 0 20 40; do
  requests=
  for ((i = from; i < from + 20; i++)); do requests="$requests,{\"PutRequest\":{\"Item\":$(item $i)}}"; done
  dynamodb batch-write-item --request-items "{\"Invoices\":[${requests:1}]}" >/dev/null
done
echo got "$(dynamodb get-item --table-name Invoices --key "$(key "$(name 5)")" \
  --query '[Item.country.S,Item.amount.N,to_string(Item.paid.BOOL),join(`,`,sort(Item.tags.SS)),Item.lines.L[0].M.sku.S,Item.lines.L[0].M.n.N]' | words)"

ids=$(dynamodb query --table-name Invoices --key-condition-expression 'InvoiceNumber = :i' --expression-attribute-values '{":i":{"S":"121212"}}' \
  --page-size 7 --query 'Items[].[ClientTransactionid.S]')
echo invoice $(wc -l <<<"$ids") $(ordered <<<"$ids") $(head -n 1 <<<"$ids") $(tail -n 1 <<<"$ids")
echo last "$(dynamodb query --table-name Invoices --key-condition-expression 'InvoiceNumber = :i' --expression-attribute-values '{":i":{"S":"121212"}}' \
  --no-scan-index-forward --max-items 3 --query 'Items[].[ClientTransactionid.S]' | grep Client | words)"
echo client 1 "$(dynamodb query --table-name Invoices --key-condition-expression 'InvoiceNumber = :i AND begins_with(ClientTransactionid, :c)' \
  --expression-attribute-values '{":i":{"S":"121212"},":c":{"S":"Client1#"}}' --query 'Items[].ClientTransactionid.S' | words)"

update() {
  dynamodb update-item --table-name Invoices --key "$(key "$(name 3)")" --update-expression 'SET amount = amount + :one, #s = :s' --condition-expression 'country = :c' \
    --expression-attribute-names '{"#s":"status"}' --expression-attribute-values "{\":one\":{\"N\":\"1\"},\":s\":{\"S\":\"open\"},\":c\":{\"S\":\"$1\"}}" \
    --return-values UPDATED_NEW --query '[Attributes.amount.N,Attributes.status.S]'
}
echo updated "$(update France | words)"
echo refused "$(update Chile 2>&1 >/dev/null | code)"

amounts=$(dynamodb query --table-name Invoices --index-name by-country --key-condition-expression 'country = :c' --expression-attribute-values '{":c":{"S":"Chile"}}' \
  --page-size 5 --query 'Items[].[amount.N]')
echo by country $(wc -l <<<"$amounts") $(ordered -g <<<"$amounts") $(head -n 1 <<<"$amounts") $(tail -n 1 <<<"$amounts")

dynamodb transact-write-items --transact-items "[{\"Put\":{\"TableName\":\"Invoices\",\"Item\":$(key t1 131313)}},{\"Put\":{\"TableName\":\"Invoices\",\"Item\":$(key t2 131313)}}]"
echo transaction "$(dynamodb transact-get-items --transact-items "[{\"Get\":{\"TableName\":\"Invoices\",\"Key\":$(key t1 131313)}},{\"Get\":{\"TableName\":\"Invoices\",\"Key\":$(key t2 131313)}}]" \
  --query 'Responses[].Item.ClientTransactionid.S' | words)"
echo cancelled "$(dynamodb transact-write-items --transact-items "[{\"Put\":{\"TableName\":\"Invoices\",\"Item\":$(key t3 131313)}},
  {\"Put\":{\"TableName\":\"Invoices\",\"Item\":$(key t1 131313),\"ConditionExpression\":\"attribute_not_exists(InvoiceNumber)\"}}]" 2>&1 >/dev/null | grep -o ConditionalCheckFailed | head -n 1)"

echo several "$(dynamodb batch-get-item --request-items "{\"Invoices\":{\"Keys\":[$(key "$(name 0)"),$(key "$(name 1)"),$(key "$(name 2)")]}}" \
  --query 'sort(Responses.Invoices[].ClientTransactionid.S)' | words)"
echo deleted "$(dynamodb delete-item --table-name Invoices --key "$(key "$(name 4)")" --return-values ALL_OLD --query Attributes.country.S)"
echo left "$(dynamodb query --table-name Invoices --key-condition-expression 'InvoiceNumber = :i' --expression-attribute-values '{":i":{"S":"121212"}}' --select COUNT --query Count)"
echo scanned "$(dynamodb scan --table-name Invoices --page-size 9 --query 'length(Items)' | awk '{ n += $1 } END { print n }')"
echo no table "$(dynamodb scan --table-name Nothing 2>&1 >/dev/null | code)"
dynamodb delete-table --table-name Invoices >/dev/null
dynamodb wait table-not-exists --table-name Invoices
echo gone
echo END
