import { type BinaryOperationNode, OperatorNode, PostgresQueryCompiler, PrimitiveValueListNode } from 'kysely'

/**
 * Makes a single parameter of the list of an `in` or `not in`, so that the text of a query, and its prepared statement, is the
 * same however long the list is.
 */
export class ListCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, operator, rightOperand } = node
    const word = OperatorNode.is(operator) ? operator.operator : undefined
    const list = PrimitiveValueListNode.is(rightOperand) ? rightOperand.values : undefined
    // The placeholders of a query that is being prepared are not plain values.
    const isPlain = list?.every((value) => typeof value === 'number' || typeof value === 'string')
    if (list && isPlain && (word === 'in' || word === 'not in')) {
      this.visitNode(leftOperand)
      this.append(word === 'in' ? ' = any(' : ' <> all(')
      this.appendValue([...list])
      this.append(')')
    } else super.visitBinaryOperation(node)
  }
}
